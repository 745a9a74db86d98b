/** How the server is set up over HTTP. */
export const ADMIN = {
  'design: administration': {
    'admin.agent.read': 'GET /admin/agent shows what is on disk, each mistake at its field.',
    'admin.agent.save': 'PUT /admin/agent writes the whole file or nothing, and no mistake.',
    'admin.agent.conflict': 'Who saves over what they have not seen is answered 409.',
    'admin.agent.versions': 'The last ten versions that were replaced can be brought back.',
  },
} as const
