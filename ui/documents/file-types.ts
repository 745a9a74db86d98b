const OFFICE = 'application/vnd.openxmlformats-officedocument'

/** What people call the types of files, by media type or by its beginning and `*`. */
const TYPES: readonly (readonly [type: string, name: string])[] = [
  ['application/pdf', 'PDF'],
  [`${OFFICE}.wordprocessingml.document`, 'Word'],
  [`${OFFICE}.spreadsheetml.sheet`, 'Excel'],
  [`${OFFICE}.presentationml.presentation`, 'PowerPoint'],
  ['text/html', 'HTML'],
  ['text/markdown', 'Markdown'],
  ['text/plain', 'Plain text'],
  ['text/csv', 'CSV'],
  ['application/json', 'JSON'],
  ['message/rfc822', 'Email'],
  ['application/epub+zip', 'E-book'],
  ['image/*', 'Image'],
]

/** What can be chosen, with the type that the address names, if it is another one. */
export function typeChoices(shown: string): typeof TYPES {
  const isKnown = shown === '' || TYPES.some(([type]) => type === shown)
  return isKnown ? TYPES : [...TYPES, [shown, shown]]
}

/** A type in a word or two. */
export function typeName(mediaType: string): string {
  const found = TYPES.find(([type]) =>
    type.endsWith('*') ? mediaType.startsWith(type.slice(0, -1)) : mediaType === type,
  )
  return found?.[1] ?? mediaType
}
