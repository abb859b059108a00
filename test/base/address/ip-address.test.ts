/** Which addresses are on the open internet. */

import { describe, expect, test } from 'vitest'
import { reachOf } from '../../../src/base/address/ip-address.ts'

describe('an address', () => {
  test.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2002:808:808::1'])(
    'the address %s is public',
    (address) => expect(reachOf(address)).toBe('public'),
  )

  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '::127.0.0.1',
  ])('the address %s is this machine', (address) => expect(reachOf(address)).toBe('loopback'))

  test.each([
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.100.100.200',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    'fd00::1',
    'fd00:ec2::254',
    'fc00::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2001:20::1',
    '3fff::1',
    '5f00::1',
    '4000::1',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:0:10.0.0.1',
    '::10.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::808:808',
    '2002:a00:1::1',
    '2002:a9fe:a9fe::',
    '2606:4700::5efe:10.0.0.1',
    '2606:4700::200:5efe:a00:1',
    '',
    'localhost',
    '8.8.8.8.8',
  ])('the address %s is in a private network', (address) => expect(reachOf(address)).toBe('private'))
})
