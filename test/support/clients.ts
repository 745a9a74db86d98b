import { existsSync } from 'node:fs'

/** A package of its own: programs of others that the server is tried with. */
export const CLIENTS = 'test/e2e/clients'

export const clientsAreInstalled = () => existsSync(`${CLIENTS}/node_modules`)
