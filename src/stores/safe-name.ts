const MAXIMUM_CHARACTERS = 120
const FALLBACK = 'file'

// Separators of folders, what shells and Windows treat apart, controls, and marks that reverse the reading.
const UNSAFE = /[\\/:*?"<>|\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A file name that no system takes for a path, however it was meant; its ending is kept where it is cut. */
export function safeName(name: string): string {
  const cleaned = name
    .normalize('NFC')
    .replaceAll(UNSAFE, '_')
    .replace(/^[.\s]+/, '')
    .trim()
  if (cleaned === '') return FALLBACK
  const characters = [...cleaned]
  if (characters.length <= MAXIMUM_CHARACTERS) return cleaned
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(cleaned)?.[0] ?? ''
  return characters.slice(0, MAXIMUM_CHARACTERS - ending.length).join('') + ending
}

const MEDIA_TYPE = /^[a-z]+\/[a-z0-9][a-z0-9.+-]{0,99}$/

/** The media type, or that of unknown bytes where it is none. */
export function safeMediaType(mediaType: string): string {
  const lower = mediaType.toLowerCase()
  return MEDIA_TYPE.test(lower) ? lower : 'application/octet-stream'
}
