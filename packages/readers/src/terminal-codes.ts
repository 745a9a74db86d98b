/** Sequences that colour and place text on a terminal, and name its window, each of a bounded length. */
const CODE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with one.
  /\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\](?:0|1|2|8|133|633|1337);[^\x07\x1b\n]{0,200}(?:\x07|\x1b\\))/g

export const withoutTerminalCodes = (text: string): string => text.replaceAll(CODE, '')
