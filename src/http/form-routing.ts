import type { IncomingMessage } from 'node:http'
import { mediaTypeOf } from './media-type.ts'
import { MULTIPART_FORM } from './streamed-body.ts'

const OTHER = 'other'

/** Put as a route's `constraints`, it has the route answer forms, beside one at the same path for everything else. */
export const MULTIPART = { form: 'multipart' }

/** Tells requests with a form from all others. Where no route takes forms, the route for everything else does. */
export const formRouting = {
  form: {
    name: 'form',
    mustMatchWhenDerived: false,
    storage<Route>() {
      const routes = new Map<string, Route>()
      return {
        get: (key: string) => routes.get(key) ?? null,
        set: (key: string, route: Route) => void routes.set(key, route),
      }
    },
    deriveConstraint: ({ headers }: IncomingMessage) =>
      mediaTypeOf(headers) === MULTIPART_FORM ? MULTIPART.form : OTHER,
  },
}
