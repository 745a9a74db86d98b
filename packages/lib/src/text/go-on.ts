/**
 * Asks for the rest of an answer that was cut off, in whichever language it is. The web UI sends and recognises it; what
 * was asked before is searched for.
 */
export const GO_ON = 'Continue your last answer exactly where it ended, in its language.'
