/**
 * A script that runs in a view before the view's own scripts. The policy of a frame does not cover WebRTC, which could send data to any
 * address, so the script removes it. A frame without an address would bring it back, so such frames are removed before they load.
 */

/** Written for browsers, without anything that needs a build. It keeps the functions it uses, because the view can replace all others. */
const GUARD_SCRIPT = `{
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'mozRTCPeerConnection', 'RTCDataChannel'])
    delete globalThis[name]
  const { apply } = Reflect
  const { getAttribute, remove, attachShadow } = Element.prototype
  const findIn = [document, document.createDocumentFragment()].map((root) => root.querySelectorAll)
  const { test } = RegExp.prototype
  const ADDRESS = /^https:/i
  const { observe } = MutationObserver.prototype
  const shadows = { __proto__: null }
  let count = 0
  const check = (list) => {
    for (let at = 0, each; (each = list[at]); at++) {
      const src = apply(getAttribute, each, ['src'])
      if (src === null || apply(getAttribute, each, ['srcdoc']) !== null || !apply(test, ADDRESS, [src])) apply(remove, each, [])
    }
  }
  const FRAMES = 'iframe, frame, object, embed, fencedframe'
  const checkAll = () => {
    check(apply(findIn[0], document, [FRAMES]))
    for (let at = 0; at < count; at++) check(apply(findIn[1], shadows[at], [FRAMES]))
  }
  const observer = new MutationObserver(checkAll)
  const WATCHED = { __proto__: null, subtree: true, childList: true, attributes: true, attributeFilter: ['src', 'srcdoc', 'data'] }
  observer.observe(document, WATCHED)
  // The root of a shadow is watched, too, and cannot be copied.
  Element.prototype.attachShadow = function (init) {
    const root = apply(attachShadow, this, [{ __proto__: null, ...init, clonable: false }])
    shadows[count++] = root
    apply(observe, observer, [root, WATCHED])
    return root
  }
  // These make shadows that a script cannot see, or a new document.
  for (const type of [Document, Element, ShadowRoot])
    for (const owner of [type, type.prototype])
      for (const name of Object.getOwnPropertyNames(owner)) if (/HTMLUnsafe$|^(?:write|writeln|open)$/.test(name)) delete owner[name]
  document.currentScript.remove()
}`

/** The page of a view with the guard before it. The attribute makes shadows that no script can see, so it gets another name. */
export const guardedPage = (html: string): string =>
  `<!doctype html><script>${GUARD_SCRIPT}</script>${html.replace(/shadowrootmode/gi, 'data-shadow')}`
