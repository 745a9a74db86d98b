/** Browsers send only scheme, host and port as the origin, so nothing else could ever match. */
export function isOrigin(text: string): boolean {
  return text === '*' || (/^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text)
}

/** Whether a URL is one of this machine, which needs no HTTPS (RFC 8252, section 7.3). */
export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** Whether OAuth may be offered there: by HTTPS, or on this machine. */
export function isPublicOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && isOrigin(text) && (url.protocol === 'https:' || isLoopback(url))
}

/** Whether a URL can be that of an issuer (OpenID Connect Discovery, 3): by HTTPS, or on this machine. */
export function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.search || url.hash || url.username || url.password) return false
  return url.protocol === 'https:' || isLoopback(url)
}
