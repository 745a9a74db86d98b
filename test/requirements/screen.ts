/** The screen in the browser: who may use it, and what it must not open. */
export const SCREEN = {
  'design: screen': {
    'screen.page': 'A browser gets the page at /, from this server alone, in at most 200 kB.',
    'screen.off': 'UI=off leaves nothing of the screen.',
    'screen.session': 'The key is exchanged for an HttpOnly, SameSite=Strict cookie.',
    'screen.token': 'The link of the first start opens one session, within 30 minutes.',
    'screen.restart': 'A session outlives a restart, but not a change of the key.',
    'screen.cookie-paths': 'The cookie opens nothing on the paths of the API.',
    'screen.same-origin': 'Only a page of this very origin can use the session.',
    'screen.wrong-keys': 'Ten wrong keys from an address within a minute make it wait.',
  },
} as const
