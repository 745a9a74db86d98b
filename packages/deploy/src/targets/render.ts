import { entriesOf, fill, type Target } from '../target.ts'

export const render: Target = {
  name: 'render',
  title: 'Render',
  facts: {
    storage: 'disk',
    // Without a disk it could be up to 300.
    killSeconds: 30,
    sandboxes: ['embedded', 'e2b'],
    hasServiceNames: true,
    instances: 100,
  },
  setSecret: (name) =>
    name === 'SERVER_API_KEY'
      ? `# ${name}: Render generates it and shows it in the dashboard`
      : `# ${name}: Render asks for it when the blueprint is applied`,
  render(plan) {
    const { folder, host } = plan
    return {
      files: {
        'render.yaml': fill(plan, 'render', {
          DOCKERFILE: `./${folder}/Dockerfile`,
          DOMAINS: host && [host],
          INSTANCES: plan.isShared ? plan.instances : undefined,
          DISK: plan.isShared ? undefined : { name: 'data', mountPath: '/data', sizeGB: 10 },
          ENVIRONMENT: entriesOf<object>(
            { ...plan, plain: { ...plan.plain, PORT: '3000' } },
            (key, value) => ({ key, value }),
            (key) =>
              key === 'SERVER_API_KEY' ? { key, generateValue: true } : { key, sync: false },
          ),
        }),
      },
      deploy: [
        {
          title: 'Validate the file',
          run: `render blueprints validate ${folder}/render.yaml`,
        },
        {
          title: 'Commit the agent and these files, and push; Render builds from the repository',
          run: `git add ${folder} && git commit --message "Deploy to Render" && git push`,
        },
        {
          title: `Create a blueprint from the repository, with ${folder}/render.yaml as its path`,
          run: 'open https://dashboard.render.com/blueprints',
        },
      ],
      domain: [
        {
          title: `Create the DNS record that the dashboard shows for ${host}; the certificate follows`,
          run: 'open https://dashboard.render.com   # the service, Settings, Custom Domains',
        },
      ],
      update: 'git push',
      rollback: 'open https://dashboard.render.com   # the service, Events, Rollback',
      backup:
        'render ssh   # node src/main.ts export /data/backup.zst; Render also keeps snapshots of the disk',
      costs: 'the plan of each instance and the disk per month, and outgoing traffic',
    }
  },
}
