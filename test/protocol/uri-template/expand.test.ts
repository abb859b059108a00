import { describe, expect, test } from 'vitest'
import { uriTemplate } from '../../../src/protocol/uri-template/index.ts'
import { proves } from '../../support/proves.ts'

/** The variables of RFC 6570, section 3.2. */
const VALUES = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  dub: 'me/too',
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  keys: { semi: ';', dot: '.', comma: ',' },
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  empty_keys: {},
  undef: null,
}

type Vector = [template: string, expected: string]

const SECTIONS: Record<string, Vector[]> = {
  'literals (3.1)': [
    ['O{empty}X', 'OX'],
    ['O{undef}X', 'OX'],
    ['here? &"<>', 'here?%20&%22%3C%3E'],
    ['50%25 and %C3%A9', '50%25%20and%20%C3%A9'],
    ['ünï', '%C3%BCn%C3%AF'],
  ],
  'level 1 examples (1.2)': [
    ['{var}', 'value'],
    ['{hello}', 'Hello%20World%21'],
  ],
  'level 2 examples (1.2)': [
    ['{+var}', 'value'],
    ['{+hello}', 'Hello%20World!'],
    ['{+path}/here', '/foo/bar/here'],
    ['here?ref={+path}', 'here?ref=/foo/bar'],
    ['X{#var}', 'X#value'],
    ['X{#hello}', 'X#Hello%20World!'],
  ],
  'level 3 examples (1.2)': [
    ['map?{x,y}', 'map?1024,768'],
    ['{x,hello,y}', '1024,Hello%20World%21,768'],
    ['{+x,hello,y}', '1024,Hello%20World!,768'],
    ['{+path,x}/here', '/foo/bar,1024/here'],
    ['{#x,hello,y}', '#1024,Hello%20World!,768'],
    ['{#path,x}/here', '#/foo/bar,1024/here'],
    ['X{.var}', 'X.value'],
    ['X{.x,y}', 'X.1024.768'],
    ['{/var}', '/value'],
    ['{/var,x}/here', '/value/1024/here'],
    ['{;x,y}', ';x=1024;y=768'],
    ['{;x,y,empty}', ';x=1024;y=768;empty'],
    ['{?x,y}', '?x=1024&y=768'],
    ['{?x,y,empty}', '?x=1024&y=768&empty='],
    ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
    ['{&x,y,empty}', '&x=1024&y=768&empty='],
  ],
  'level 4 examples (1.2)': [
    ['{var:3}', 'val'],
    ['{var:30}', 'value'],
    ['{list}', 'red,green,blue'],
    ['{list*}', 'red,green,blue'],
    ['{keys}', 'semi,%3B,dot,.,comma,%2C'],
    ['{keys*}', 'semi=%3B,dot=.,comma=%2C'],
    ['{+path:6}/here', '/foo/b/here'],
    ['{+list}', 'red,green,blue'],
    ['{+list*}', 'red,green,blue'],
    ['{+keys}', 'semi,;,dot,.,comma,,'],
    ['{+keys*}', 'semi=;,dot=.,comma=,'],
    ['{#path:6}/here', '#/foo/b/here'],
    ['{#list}', '#red,green,blue'],
    ['{#list*}', '#red,green,blue'],
    ['{#keys}', '#semi,;,dot,.,comma,,'],
    ['{#keys*}', '#semi=;,dot=.,comma=,'],
    ['X{.var:3}', 'X.val'],
    ['X{.list}', 'X.red,green,blue'],
    ['X{.list*}', 'X.red.green.blue'],
    ['X{.keys}', 'X.semi,%3B,dot,.,comma,%2C'],
    ['X{.keys*}', 'X.semi=%3B.dot=..comma=%2C'],
    ['{/var:1,var}', '/v/value'],
    ['{/list}', '/red,green,blue'],
    ['{/list*}', '/red/green/blue'],
    ['{/list*,path:4}', '/red/green/blue/%2Ffoo'],
    ['{/keys}', '/semi,%3B,dot,.,comma,%2C'],
    ['{/keys*}', '/semi=%3B/dot=./comma=%2C'],
    ['{;hello:5}', ';hello=Hello'],
    ['{;list}', ';list=red,green,blue'],
    ['{;list*}', ';list=red;list=green;list=blue'],
    ['{;keys}', ';keys=semi,%3B,dot,.,comma,%2C'],
    ['{;keys*}', ';semi=%3B;dot=.;comma=%2C'],
    ['{?var:3}', '?var=val'],
    ['{?list}', '?list=red,green,blue'],
    ['{?list*}', '?list=red&list=green&list=blue'],
    ['{?keys}', '?keys=semi,%3B,dot,.,comma,%2C'],
    ['{?keys*}', '?semi=%3B&dot=.&comma=%2C'],
    ['{&var:3}', '&var=val'],
    ['{&list}', '&list=red,green,blue'],
    ['{&list*}', '&list=red&list=green&list=blue'],
    ['{&keys}', '&keys=semi,%3B,dot,.,comma,%2C'],
    ['{&keys*}', '&semi=%3B&dot=.&comma=%2C'],
  ],
  'variables (3.2.1)': [
    ['{count}', 'one,two,three'],
    ['{count*}', 'one,two,three'],
    ['{/count}', '/one,two,three'],
    ['{/count*}', '/one/two/three'],
    ['{;count}', ';count=one,two,three'],
    ['{;count*}', ';count=one;count=two;count=three'],
    ['{?count}', '?count=one,two,three'],
    ['{?count*}', '?count=one&count=two&count=three'],
    ['{&count*}', '&count=one&count=two&count=three'],
  ],
  'simple expansion (3.2.2)': [
    ['{half}', '50%25'],
    ['{x,y}', '1024,768'],
    ['?{x,empty}', '?1024,'],
    ['?{x,undef}', '?1024'],
    ['?{undef,y}', '?768'],
  ],
  'reserved expansion (3.2.3)': [
    ['{+half}', '50%25'],
    ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
    ['{+base}index', 'http://example.com/home/index'],
    ['O{+empty}X', 'OX'],
    ['O{+undef}X', 'OX'],
    ['up{+path}{var}/here', 'up/foo/barvalue/here'],
  ],
  'fragment expansion (3.2.4)': [
    ['{#var}', '#value'],
    ['{#hello}', '#Hello%20World!'],
    ['{#half}', '#50%25'],
    ['foo{#empty}', 'foo#'],
    ['foo{#undef}', 'foo'],
  ],
  'label expansion (3.2.5)': [
    ['{.who}', '.fred'],
    ['{.who,who}', '.fred.fred'],
    ['{.half,who}', '.50%25.fred'],
    ['www{.dom*}', 'www.example.com'],
    ['X{.empty}', 'X.'],
    ['X{.undef}', 'X'],
    ['X{.empty_keys}', 'X'],
    ['X{.empty_keys*}', 'X'],
  ],
  'path segment expansion (3.2.6)': [
    ['{/who}', '/fred'],
    ['{/who,who}', '/fred/fred'],
    ['{/half,who}', '/50%25/fred'],
    ['{/who,dub}', '/fred/me%2Ftoo'],
    ['{/var,empty}', '/value/'],
    ['{/var,undef}', '/value'],
  ],
  'path parameter expansion (3.2.7)': [
    ['{;who}', ';who=fred'],
    ['{;half}', ';half=50%25'],
    ['{;empty}', ';empty'],
    ['{;v,empty,who}', ';v=6;empty;who=fred'],
    ['{;v,bar,who}', ';v=6;who=fred'],
    ['{;x,y,undef}', ';x=1024;y=768'],
  ],
  'query expansion (3.2.8)': [
    ['{?who}', '?who=fred'],
    ['{?half}', '?half=50%25'],
    ['{?x,y,undef}', '?x=1024&y=768'],
  ],
  'query continuation (3.2.9)': [
    ['{&who}', '&who=fred'],
    ['{&half}', '&half=50%25'],
    ['{&x,y,undef}', '&x=1024&y=768'],
  ],
}

describe.each(Object.entries(SECTIONS))('RFC 6570 %s', (_section, vectors) => {
  test.each(vectors)('the template %s expands to %s', (template, expected) => {
    proves('T-RES-015')
    expect(uriTemplate(template).expand(VALUES)).toBe(expected)
  })
})

describe('beyond the examples', () => {
  test.each<[string, Record<string, never[] | boolean | number | string | Record<string, string>>, string]>([
    ['{n},{b}', { n: 1.5, b: false }, '1.5,false'],
    ['{a:1}', { a: '😀x' }, '%F0%9F%98%80'],
    ['{?a*}', { a: [] }, ''],
    ['{?a*}', { a: { k: '' } }, '?k='],
    ['{;a*}', { a: { k: '' } }, ';k'],
    ['{a.b}', { 'a.b': 'x' }, 'x'],
    ['{a%41}', { 'a%41': 'x' }, 'x'],
    ['{+a}', { a: '%41 %zz é' }, '%41%20%25zz%20%C3%A9'],
  ])('the template %s with %j expands to %s', (template, values, expected) => {
    expect(uriTemplate(template).expand(values)).toBe(expected)
  })

  test('a name that every object inherits is not a value', () => {
    expect(uriTemplate('x{toString}{constructor}').expand({})).toBe('x')
  })
})
