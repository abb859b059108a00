/** The default theme with the colours of the console. */

import Theme from 'vitepress/theme-without-fonts'
import './style.css'

// biome-ignore lint/style/noDefaultExport: VitePress reads the default export.
export default Theme
