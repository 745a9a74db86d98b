/** What people call the languages that `code-colours.ts` knows. */
export const LANGUAGES: ReadonlySet<string> = new Set(
  `bash sh zsh c h cpp c++ cc csharp cs c# css diff patch go golang ini toml java javascript js jsx mjs cjs
  json jsonc json5 php python py rust rs sql typescript ts tsx mts cts xml html svg yaml yml`.split(
    /\s+/,
  ),
)
