// Generated from the server's list by `npm run client:types`.

/** What kind of file it is, and its first bytes in hexadecimal digits. */
export const REFUSED_FILES: readonly (readonly [kind: string, mark: string])[] = [
  ['a Windows program', '4d5a'],
  ['a program', '7f454c46'],
  ['a program', 'cffaedfe'],
  ['a program', 'cafebabe'],
  ['a WebAssembly module', '0061736d'],
  ['a compressed archive', '1f8b'],
  ['a compressed archive', '425a68'],
  ['a compressed archive', 'fd377a585a'],
  ['a compressed archive', '28b52ffd'],
  ['a compressed archive', '377abcaf'],
  ['a compressed archive', '52617221'],
  ['an empty ZIP archive', '504b0506'],
  ['audio or video', '52494646'],
  ['sound', '494433'],
  ['sound', '4f676753'],
  ['a database', '53514c69746520666f726d61742033'],
  ['a PostScript program', '25215053'],
]
