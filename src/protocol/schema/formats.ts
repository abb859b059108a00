/** The string formats that are checked, each in linear time. Other formats are only annotations. */

export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => {
    const at = text.search(/[Tt ]/)
    return at > 0 && isDate(text.slice(0, at)) && isTime(text.slice(at + 1))
  },
  date: (text) => isDate(text),
  time: (text) => isTime(text),
  email: (text) => isEmail(text),
  uri: (text) => /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) && isUriText(text),
  'uri-reference': (text) => isUriText(text),
  uuid: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
  ipv4: (text) => isIpv4(text),
  ipv6: (text) => isIpv6(text),
  hostname: (text) => isHostname(text),
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (!match) return false
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  if (month < 1 || month > 12 || day < 1) return false
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day <= ([31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] as number)
}

function isTime(text: string): boolean {
  const match = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?([Zz]|([+-])(\d\d):(\d\d))$/.exec(text)
  if (!match) return false
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const sign = match[5] === '-' ? -1 : 1
  const [offsetHour, offsetMinute] = [Number(match[6] ?? 0), Number(match[7] ?? 0)]
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  // A leap second exists only at 23:59:60 UTC.
  const utc = (((hour * 60 + minute - sign * (offsetHour * 60 + offsetMinute)) % 1440) + 1440) % 1440
  return second === 60 && utc === 1439
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at < 1 || at > 64 || text.length > 254) return false
  const local = text.slice(0, at)
  if (!/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+$/.test(local)) return false
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) return false
  return isHostname(text.slice(at + 1))
}

function isHostname(text: string): boolean {
  if (text.length === 0 || text.length > 253) return false
  return text.split('.').every((label) => label.length <= 63 && /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(label))
}

const isUriText = (text: string): boolean => /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/.test(text) && !/%(?![0-9A-Fa-f]{2})/.test(text)

const isIpv4 = (text: string): boolean => {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
}

function isIpv6(text: string): boolean {
  const halves = text.split('::')
  if (halves.length > 2) return false
  let groups = 0
  for (const [i, half] of halves.entries()) {
    if (half === '') continue
    const parts = half.split(':')
    for (const [j, part] of parts.entries()) {
      const isLast = i === halves.length - 1 && j === parts.length - 1
      if (isLast && part.includes('.')) {
        if (!isIpv4(part)) return false
        groups += 2
      } else if (/^[0-9A-Fa-f]{1,4}$/.test(part)) groups += 1
      else return false
    }
  }
  return halves.length === 2 ? groups < 8 : groups === 8
}
