import { fill, setInFile, type Target } from '../target.ts'

export const kamal: Target = {
  name: 'kamal',
  title: 'Kamal',
  facts: {
    // At each deployment the old and the new server overlap, so neither has a volume to itself.
    storage: 'none',
    killSeconds: 600,
    sandboxes: ['embedded', 'e2b'],
    // Its certificates are managed per machine.
    instances: 1,
    proxies: 1,
  },
  setSecret: (name, plan) => setInFile(name, plan),
  render(plan) {
    const { folder, host } = plan
    const config = `--config-file ${folder}/deploy.yml`
    return {
      files: {
        'deploy.yml': fill(plan, 'kamal', {
          DOCKERFILE: `${folder}/Dockerfile`,
          SECRETS_PATH: `${folder}/.env`,
          SETTINGS: plan.plain,
          SECRETS: plan.secrets,
          DOMAIN: plan.domain ?? 'agent.example.org',
        }),
      },
      prepare: [
        {
          title: host
            ? `In ${folder}/deploy.yml, replace ADDRESS and registry.example.org with your machine and registry, then set the registry's password`
            : `In ${folder}/deploy.yml, replace ADDRESS, agent.example.org and registry.example.org with your machine, host name and registry, then set the registry's password`,
          run: setInFile('KAMAL_REGISTRY_PASSWORD', plan),
        },
        ...(host
          ? [
              {
                title: `Point the DNS records of ${host} to the machine and open ports 80 and 443; Kamal's proxy obtains the certificate itself`,
                run: `getent ahosts ${host}   # must show the address of the machine`,
              },
            ]
          : []),
      ],
      deploy: [
        {
          title: 'Prepare the machine, then build and start the server',
          run: `kamal setup ${config}`,
        },
      ],
      update: `kamal deploy ${config}`,
      rollback: `kamal app containers ${config}   # lists the versions\nkamal rollback VERSION ${config}`,
      costs: `the machine, ${plan.sharedEngines}; requests are not charged`,
    }
  },
}
