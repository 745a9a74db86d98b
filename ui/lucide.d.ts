/** An icon by its name: the elements of its picture, on a square of 24. */
declare module 'lucide/dist/esm/icons/*.mjs' {
  const elements: readonly (readonly [tag: string, attributes: Readonly<Record<string, string>>])[]
  // biome-ignore lint/style/noDefaultExport: so the package exports them
  export default elements
}
