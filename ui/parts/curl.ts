/** A request as a command to paste; the key stays in the shell's variable `KEY`. */
export function curlOf(path: string, body: object, options = ''): string {
  // A quote within single quotes has to leave them for a moment.
  const json = JSON.stringify(body).replaceAll("'", "'\\''")
  return `curl ${options}${location.origin}${path} \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '${json}'`
}
