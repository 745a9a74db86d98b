/** A part of a form, as it arrives: the bytes of a file have to be read before the next part comes. */
export type FormPart =
  | { kind: 'field'; name: string; value: string }
  | {
      kind: 'file'
      name: string
      /** What the client calls the file, if it says. */
      fileName: string | undefined
      mediaType: string | undefined
      bytes: AsyncIterable<Uint8Array>
    }
