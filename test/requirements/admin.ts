/** How the server is set up over HTTP. */
export const ADMIN = {
  'design: administration': {
    'admin.agent.read': 'GET /admin/agent shows what is on disk, each mistake at its field.',
    'admin.agent.save': 'PUT /admin/agent writes the whole file or nothing, and no mistake.',
    'admin.agent.swap':
      'A saved configuration answers the next question, without a restart; answers that have begun end with the earlier one.',
    'admin.agent.conflict': 'Who saves over what they have not seen is answered 409.',
    'admin.agent.trials':
      'MCP connections, skills and sandbox of a configuration are tried before it is saved.',
    'admin.agent.draft':
      'An unsaved configuration answers a question, and neither the agent that runs nor the file changes.',
    'admin.agent.versions': 'The last ten versions that were replaced can be brought back.',
    'admin.models.test': 'POST /admin/models/test says what chat and search would meet.',
    'admin.restart':
      'POST /admin/restart ends open streams in order and begins anew, same process id.',
    'admin.deploy': 'POST /admin/deploy makes what npm run deploy writes, and no secret.',
    'admin.launch.stopped':
      'A stopped server answers its public paths and /admin, and 503 not_launched to all else.',
    'admin.launch.failed':
      'A start that variables or agent.json make fail shows every mistake, and is launched once they are mended.',
    'admin.launch.knowledge': 'In the mode knowledge there are no tools, skills, MCP and sandbox.',
    'admin.restart.checked': 'What would not start again is refused before anything is closed.',
    'admin.restart.needed':
      'GET /admin/server names what a restart would change, and nothing else.',
    'admin.settings.read': 'GET /admin/settings tells of every variable its meaning and source.',
    'admin.settings.secrets': 'Of a secret, its last four characters are sent at most.',
    'admin.settings.save': 'PATCH /admin/settings writes .env whole and right, or not at all.',
  },
} as const
