/** CSS modules, by the names of their classes. Vite loads them. */

declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  // biome-ignore lint/style/noDefaultExport: Vite exports the classes this way
  export default classes
}

declare module '*.css' {}
