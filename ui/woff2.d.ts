/** The path of the file, from the folder of the bundle. */
declare module '*.woff2' {
  const path: string
  // biome-ignore lint/style/noDefaultExport: so esbuild exports it
  export default path
}
