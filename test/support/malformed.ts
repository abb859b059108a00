/**
 * Messages that are wrong, each with what a server owes its sender: errors with a code and an id, or silence. They
 * are meant for a session that is open, in any revision without batches.
 */

export interface OwedError {
  code: number
  /** Undefined when no id can be read: null or no id at all, as the revision has it. */
  id: string | number | undefined
}

export interface MalformedCase {
  name: string
  /** What is sent, without the newline that ends it. */
  bytes: Uint8Array
  /** The same as text; undefined when it is not UTF-8. */
  text: string | undefined
  /** In order; empty for silence. */
  owed: readonly OwedError[]
  /** It is about lines, and means nothing where a message has a body of its own. */
  isAboutLines: boolean
}

const PARSE = -32700
const INVALID = -32600
const UNKNOWN_METHOD = -32601
const PARAMS = -32602

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const keys = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',')}}`
const call = (params: string, id = '7'): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`
const notice = (params: string): string => `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`
const ping = (member: string): string => `{"jsonrpc":"2.0",${member},"method":"ping"}`

type Row = [name: string, message: string | number[], ...owed: [code: number, id?: string | number][]]

const notJson: Row[] = [
  ['an open brace', '{', [PARSE]],
  ['a closing brace', '}', [PARSE]],
  ['a closing bracket', ']', [PARSE]],
  ['a message that stops before its last brace', '{"jsonrpc":"2.0","id":7,"method":"ping"', [PARSE]],
  ['a message that stops inside a string', '{"jsonrpc":"2.0","id":7,"method":"pi', [PARSE]],
  ['a message that stops after a backslash', '{"jsonrpc":"2.0","id":7,"method":"pi\\', [PARSE]],
  ['a message with one brace too many', '{"jsonrpc":"2.0","id":7,"method":"ping"}}', [PARSE]],
  ['plain words', 'Listening on port 3000', [PARSE]],
  ['colours of a terminal', '\u001b[32minfo\u001b[0m ready', [PARSE]],
  ['a request line of HTTP', 'POST /mcp HTTP/1.1', [PARSE]],
  ['a header of the language server protocol', 'Content-Length: 52', [PARSE]],
  ['single quotes', "{'jsonrpc':'2.0','id':7,'method':'ping'}", [PARSE]],
  ['keys without quotes', '{jsonrpc:"2.0",id:7,method:"ping"}', [PARSE]],
  ['a comma too many', '{"jsonrpc":"2.0","id":7,"method":"ping",}', [PARSE]],
  ['a comment', '{"jsonrpc":"2.0","id":7,/* now */"method":"ping"}', [PARSE]],
  ['bytes after the message', '{"jsonrpc":"2.0","id":7,"method":"ping"} and more', [PARSE]],
  ['two messages on one line', '{"jsonrpc":"2.0","id":7,"method":"ping"}{"jsonrpc":"2.0","id":8,"method":"ping"}', [PARSE]],
  ['a NUL', '\0', [PARSE]],
  ['a NUL inside a string', '{"jsonrpc":"2.0","id":7,"method":"pi\0ng"}', [PARSE]],
  ['a NUL after the message', '{"jsonrpc":"2.0","id":7,"method":"ping"}\0', [PARSE]],
  ['a bare tab inside a string', '{"jsonrpc":"2.0","id":7,"method":"pi\tng"}', [PARSE]],
  ['an escape that JSON does not have', '{"jsonrpc":"2.0","id":"\\q","method":"ping"}', [PARSE]],
  ['half an escape of a character', '{"jsonrpc":"2.0","id":"\\u12","method":"ping"}', [PARSE]],
  ['NaN as an id', ping('"id":NaN'), [PARSE]],
  ['an id in hexadecimal', ping('"id":0x10'), [PARSE]],
  ['an id with a leading zero', ping('"id":07'), [PARSE]],
  ['an id with a plus', ping('"id":+7'), [PARSE]],
  ['a byte order mark before the message', '\ufeff{"jsonrpc":"2.0","id":7,"method":"ping"}', [PARSE]],
  ['a byte order mark alone', '\ufeff', [PARSE]],
  ['a no-break space', '\u00a0', [PARSE]],
]

const notUtf8: Row[] = [
  ['the bytes FF FE', [0xff, 0xfe], [PARSE]],
  ['a message in UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00], [PARSE]],
  ['a continuation byte alone', [0x80], [PARSE]],
  ['a character that stops half-way', [...Buffer.from('{"jsonrpc":"2.0","id":7,"method":"'), 0xc3, ...Buffer.from('"}')], [PARSE]],
  ['a character in more bytes than it needs', [...Buffer.from('{"jsonrpc":"2.0","id":7,"method":"'), 0xc0, 0xaf, 0x22, 0x7d], [PARSE]],
  ['half a surrogate pair in UTF-8', [...Buffer.from('{"jsonrpc":"2.0","id":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d], [PARSE]],
]

const notAnObject: Row[] = [
  ['null', 'null', [INVALID]],
  ['true', 'true', [INVALID]],
  ['a number', '42', [INVALID]],
  ['a number past all numbers', '1e400', [INVALID]],
  ['a string', '"ping"', [INVALID]],
  ['an empty array', '[]', [INVALID]],
  ['an array of numbers', '[1,2,3]', [INVALID]],
  ['an array in an array', '[[]]', [INVALID]],
  ['a batch', '[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"ping"}]', [INVALID]],
  ['a batch of one', '[{"jsonrpc":"2.0","id":7,"method":"ping"}]', [INVALID]],
  ['a batch of notifications', '[{"jsonrpc":"2.0","method":"notifications/initialized"}]', [INVALID]],
  ['a batch past all bounds', `[${Array.from({ length: 60 }, () => '{}').join(',')}]`, [INVALID]],
]

const wrongEnvelope: Row[] = [
  ['an empty object', '{}', [INVALID]],
  ['an object of something else', '{"level":"info","msg":"ready"}', [INVALID]],
  ['an id and nothing to do', '{"jsonrpc":"2.0","id":7}', [INVALID, 7]],
  ['"Method" for "method"', '{"jsonrpc":"2.0","id":7,"Method":"ping"}', [INVALID, 7]],
  ['"ID" for "id", which makes it a notification', '{"jsonrpc":"2.0","ID":7,"method":"ping"}'],
  ['"JSONRPC" for "jsonrpc"', '{"JSONRPC":"2.0","id":7,"method":"ping"}', [INVALID, 7]],
  ['no "jsonrpc"', '{"id":7,"method":"ping"}', [INVALID, 7]],
  ['"jsonrpc" 1.0', '{"jsonrpc":"1.0","id":7,"method":"ping"}', [INVALID, 7]],
  ['"jsonrpc" as a number', '{"jsonrpc":2.0,"id":7,"method":"ping"}', [INVALID, 7]],
  ['"jsonrpc" without its fraction', '{"jsonrpc":"2","id":7,"method":"ping"}', [INVALID, 7]],
  ['"jsonrpc" null', '{"jsonrpc":null,"id":7,"method":"ping"}', [INVALID, 7]],
  ['"jsonrpc" of 100,000 characters', `{"jsonrpc":"${'2'.repeat(100_000)}","id":7,"method":"ping"}`, [INVALID, 7]],
  ['a notification of "jsonrpc" 1.0', '{"jsonrpc":"1.0","method":"notifications/initialized"}'],
  ['a notification without "jsonrpc"', '{"method":"GET","url":"/"}'],
  ['a string id of half a surrogate pair', '{"jsonrpc":"1.0","id":"\\ud800","method":"ping"}', [INVALID, '\ud800']],
  ['a string id of 100,000 characters', `{"jsonrpc":"1.0","id":"${'i'.repeat(100_000)}","method":"ping"}`, [INVALID, 'i'.repeat(100_000)]],
  ['an empty string id', '{"jsonrpc":"1.0","id":"","method":"ping"}', [INVALID, '']],
]

const wrongId: Row[] = [
  ['an id that is null', ping('"id":null'), [INVALID]],
  ['an id with a fraction', ping('"id":1.5'), [INVALID]],
  ['a negative id with a fraction', ping('"id":-0.5'), [INVALID]],
  ['an id that is true', ping('"id":true'), [INVALID]],
  ['an id that is false', ping('"id":false'), [INVALID]],
  ['an id that is an array', ping('"id":[7]'), [INVALID]],
  ['an id that is an object', ping('"id":{"id":7}'), [INVALID]],
  ['an id past the integers that a number can hold', ping('"id":9007199254740993'), [INVALID]],
  ['an id past all numbers', ping('"id":1e400'), [INVALID]],
  ['an id of 400 digits', ping(`"id":${'9'.repeat(400)}`), [INVALID]],
]

const wrongMethod: Row[] = [
  ['a method that is null', '{"jsonrpc":"2.0","id":7,"method":null}', [INVALID, 7]],
  ['a method that is a number', '{"jsonrpc":"2.0","id":7,"method":1}', [INVALID, 7]],
  ['a method that is true', '{"jsonrpc":"2.0","id":7,"method":true}', [INVALID, 7]],
  ['a method that is an array', '{"jsonrpc":"2.0","id":7,"method":["ping"]}', [INVALID, 7]],
  ['a method that is an object', '{"jsonrpc":"2.0","id":7,"method":{}}', [INVALID, 7]],
  ['a method that is a number, and no id', '{"jsonrpc":"2.0","method":1}', [INVALID]],
  ['a method that is empty', '{"jsonrpc":"2.0","id":7,"method":""}', [UNKNOWN_METHOD, 7]],
  ['a method named "__proto__"', '{"jsonrpc":"2.0","id":7,"method":"__proto__"}', [UNKNOWN_METHOD, 7]],
  ['a method named "toString"', '{"jsonrpc":"2.0","id":7,"method":"toString"}', [UNKNOWN_METHOD, 7]],
  ['a method in other letters', '{"jsonrpc":"2.0","id":7,"method":"PING"}', [UNKNOWN_METHOD, 7]],
  ['a notification as a request', '{"jsonrpc":"2.0","id":7,"method":"notifications/initialized"}', [UNKNOWN_METHOD, 7]],
]

const wrongParams: Row[] = [
  ['params that are null', call('null'), [INVALID, 7]],
  ['params that are a string', call('"echo"'), [INVALID, 7]],
  ['params that are a number', call('7'), [INVALID, 7]],
  ['params that are true', call('true'), [INVALID, 7]],
  ['params that are an array', call('["echo"]'), [PARAMS, 7]],
  ['params that are an empty array', call('[]'), [PARAMS, 7]],
  ['params without what the method needs', call('{}'), [PARAMS, 7]],
  ['a tool name that is a number', call('{"name":5}'), [PARAMS, 7]],
  ['arguments that are a string', call('{"name":"echo","arguments":"x"}'), [PARAMS, 7]],
  ['arguments that are an array', call('{"name":"echo","arguments":[]}'), [PARAMS, 7]],
  ['a notification whose params are null', notice('null')],
  ['a notification whose params are a string', notice('"7"')],
  ['a notification whose params are an array', notice('[7]')],
  ['a cancellation of nothing', notice('{}')],
  ['a cancellation of an object', notice('{"requestId":{}}')],
  ['a cancellation of an unknown request', notice('{"requestId":"nobody","reason":7}')],
  ['progress of nothing', '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[],"progress":"x"}}'],
  ['a notification that nobody knows', '{"jsonrpc":"2.0","method":"notifications/never/heard/of","params":{}}'],
]

const wrongResponse: Row[] = [
  ['a result that nobody waits for', '{"jsonrpc":"2.0","id":7,"result":{}}'],
  ['an error that nobody waits for', '{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}'],
  ['a response with a result and an error', '{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"no"}}'],
  ['a result without an id', '{"jsonrpc":"2.0","result":{}}'],
  ['a result whose id is null', '{"jsonrpc":"2.0","id":null,"result":{}}'],
  ['an error whose id is null', '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}'],
  ['a result that is a string', '{"jsonrpc":"2.0","id":7,"result":"done"}'],
  ['a result that is null', '{"jsonrpc":"2.0","id":7,"result":null}'],
  ['an error that is a string', '{"jsonrpc":"2.0","id":7,"error":"no"}'],
  ['an error without a message', '{"jsonrpc":"2.0","id":7,"error":{"code":1}}'],
  ['an error code with a fraction', '{"jsonrpc":"2.0","id":7,"error":{"code":1.5,"message":"no"}}'],
  ['a response of "jsonrpc" 1.0', '{"jsonrpc":"1.0","id":7,"result":{}}'],
]

const twice: Row[] = [
  ['"id" twice', '{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}', [INVALID]],
  ['"id" twice, once in disguise', '{"jsonrpc":"2.0","id":7,"\\u0069d":8,"method":"ping"}', [INVALID]],
  ['"method" twice', '{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}', [INVALID, 7]],
  ['"method" twice, before the id', '{"jsonrpc":"2.0","method":"ping","method":"tools/list","id":7}', [INVALID, 7]],
  ['"jsonrpc" twice', '{"jsonrpc":"2.0","jsonrpc":"2.0","id":7,"method":"ping"}', [INVALID, 7]],
  ['"params" twice', '{"jsonrpc":"2.0","id":7,"method":"ping","params":{},"params":{}}', [INVALID, 7]],
  ['"name" twice in params', call('{"name":"echo","name":"rm"}'), [INVALID, 7]],
  ['"name" twice in params, once in disguise', call('{"name":"echo","n\\u0061me":"rm"}', '"seven"'), [INVALID, 'seven']],
  ['"arguments" twice in params', call('{"name":"echo","arguments":{},"arguments":{}}'), [INVALID, 7]],
  ['"_meta" twice in params', call('{"_meta":{},"name":"echo","_meta":{}}'), [INVALID, 7]],
  ['a notification with "method" twice', '{"jsonrpc":"2.0","method":"notifications/initialized","method":"ping"}'],
  ['a result given twice', '{"jsonrpc":"2.0","id":7,"result":{},"result":{}}'],
]

const reaching: Row[] = [
  ['"__proto__" in the message', '{"jsonrpc":"2.0","id":7,"method":"ping","__proto__":{"polluted":1}}', [PARAMS, 7]],
  ['"__proto__" in params', call('{"name":"echo","__proto__":{"polluted":1}}'), [PARAMS, 7]],
  ['"__proto__" in arguments', call('{"name":"echo","arguments":{"__proto__":{"polluted":1}}}'), [PARAMS, 7]],
  ['"__proto__" in metadata', call('{"name":"echo","_meta":{"__proto__":{"polluted":1}}}'), [PARAMS, 7]],
  ['"__proto__" in disguise', call('{"name":"echo","arguments":{"\\u005f_proto\\u005F_":{"polluted":1}}}'), [PARAMS, 7]],
  ['"__proto__" in an array', call('{"name":"echo","arguments":{"a":[[{"__proto__":1}]]}}'), [PARAMS, 7]],
  ['"constructor"."prototype"', call('{"name":"echo","arguments":{"constructor":{"prototype":{"polluted":1}}}}'), [PARAMS, 7]],
  ['"__proto__" before the id', '{"method":"tools/call","params":{"__proto__":{}},"jsonrpc":"2.0","id":7}', [PARAMS, 7]],
  ['"__proto__" after an id that is no JSON', '{"jsonrpc":"2.0","id":07,"method":"ping","params":{"__proto__":1}}', [PARAMS]],
  ['"__proto__" after an id with a wrong escape', '{"jsonrpc":"2.0","id":"\\q","method":"ping","params":{"__proto__":1}}', [PARAMS]],
  ['a notification with "__proto__"', notice('{"__proto__":{"polluted":1}}')],
  ['a result with "__proto__"', '{"jsonrpc":"2.0","id":7,"result":{"__proto__":{"polluted":1}}}'],
]

const tooMuch: Row[] = [
  ['65 levels', call(deep(64)), [INVALID, 7]],
  ['65 levels before the id', `{"method":"tools/call","params":${deep(64)},"jsonrpc":"2.0","id":"last"}`, [INVALID, 'last']],
  ['100,000 levels', call(deep(100_000)), [INVALID, 7]],
  ['100,000 brackets that never close', '['.repeat(100_000), [INVALID]],
  ['100,000 braces that never close', '{"a":'.repeat(100_000), [INVALID]],
  ['a notification of 65 levels', notice(deep(64))],
  ['10,001 keys', call(`{"name":"echo","arguments":${keys(10_001)}}`), [INVALID, 7]],
  ['10,001 keys in the message', keys(10_001), [INVALID]],
]

const lines: Row[] = [
  ['an empty line', ''],
  ['a line of spaces', '    '],
  ['a line of tabs', '\t\t'],
  ['a carriage return', '\r'],
  ['a message over two lines', '{"jsonrpc":"2.0","id":7,\n"method":"ping"}', [PARSE], [PARSE]],
  ['a wrong message and a carriage return', '{"jsonrpc":"1.0","id":7,"method":"ping"}\r', [INVALID, 7]],
  ['three empty lines', '\n\n'],
]

export const MALFORMED: readonly MalformedCase[] = [
  ...[notJson, notUtf8, notAnObject, wrongEnvelope, wrongId, wrongMethod, wrongParams, wrongResponse, twice, reaching, tooMuch].flatMap(
    (rows) => rows.map((row) => toCase(row, false)),
  ),
  ...lines.map((row) => toCase(row, true)),
]

function toCase([name, message, ...owed]: Row, isAboutLines: boolean): MalformedCase {
  const isText = typeof message === 'string'
  return {
    name,
    bytes: isText ? Buffer.from(message) : Uint8Array.from(message),
    text: isText ? message : undefined,
    owed: owed.map(([code, id]) => ({ code, id })),
    isAboutLines,
  }
}
