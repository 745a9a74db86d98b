/** The web UI in the browser: who may use it, and what it must not open. */
export const WEB_UI = {
  'design: web UI': {
    'web-ui.page': 'A browser gets the page at /, from this server alone, in at most 150 kB.',
    'web-ui.off': 'UI=off leaves nothing of the web UI.',
    'web-ui.session': 'The key is exchanged for an HttpOnly, SameSite=Strict cookie.',
    'web-ui.token': 'The link of the first start opens one session, within 30 minutes.',
    'web-ui.restart': 'A session outlives a restart, but not a change of the key.',
    'web-ui.cookie-paths': 'The cookie opens nothing on the paths of the API.',
    'web-ui.same-origin': 'Only a page of this very origin can use the session.',
    'web-ui.wrong-keys': 'Ten wrong keys from an address within a minute make it wait.',
  },
} as const
