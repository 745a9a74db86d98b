/**
 * The headers of a file that nobody vouches for: kept as a file, of no other type than it is said to be,
 * and without rights where a browser shows it all the same.
 */
export function attachment(name: string, mediaType: string): Record<string, string> {
  return {
    'content-type': mediaType,
    'content-disposition': `attachment; filename="${asciiName(name)}"; filename*=UTF-8''${encodeName(name)}`,
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
  }
}

function asciiName(name: string): string {
  return name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
}

/** https://www.rfc-editor.org/rfc/rfc8187 allows fewer characters than encodeURIComponent leaves. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
