import type { TestPerson } from '../people.ts'

/** What a test knows of a document: who may see it follows from this alone, and not from the server. */
export interface TrueDocument {
  /** A word that its text, its title and its metadata have, and nothing else has. */
  word: string
  id: string
  creator?: string
  collection?: string
  access?: readonly string[]
}

export interface TrueCollection {
  name: string
  access: readonly string[]
  contributors: readonly string[]
  owners: readonly string[]
}

/** The rules, written once more and as plainly as possible. */
export function createTruth(collections: readonly TrueCollection[]) {
  const includes = ({ name, groups = [] }: TestPerson, entries: readonly string[]) =>
    entries.some((entry) => {
      const [kind, id] = entry.split(':')
      if (kind === 'public') return true
      return kind === 'user' ? id === name : groups.includes(id ?? '')
    })
  const collectionOf = ({ collection = 'default' }: TrueDocument) =>
    collections.find(({ name }) => name === collection)

  /** What somebody has added to a shared collection is theirs while they have one of these roles in it. */
  const isOwn = (
    person: TestPerson,
    document: TrueDocument,
    roles: (place: TrueCollection) => readonly string[],
  ) => {
    if (document.creator !== person.name) return false
    const place = document.collection && collectionOf(document)
    return !place || includes(person, [...roles(place), ...place.owners])
  }

  const reads = (person: TestPerson, document: TrueDocument): boolean => {
    if (isOwn(person, document, (place) => [...place.access, ...place.contributors])) return true
    if (document.access) return includes(person, document.access)
    const place = collectionOf(document)
    if (!place) return false
    return includes(person, [...place.access, ...place.contributors, ...place.owners])
  }
  return {
    reads,
    changes: (person: TestPerson, document: TrueDocument): boolean =>
      reads(person, document) &&
      (isOwn(person, document, (place) => place.contributors) ||
        includes(person, collectionOf(document)?.owners ?? [])),
  }
}

export type Truth = ReturnType<typeof createTruth>
