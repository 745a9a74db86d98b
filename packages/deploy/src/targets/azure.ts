import { buildAndPush, dashed, entriesOf, fill, IMAGE, type Target, withSecret } from '../target.ts'

export const azure: Target = {
  name: 'azure',
  title: 'Azure Container Apps',
  facts: {
    // Its disks are network shares.
    storage: 'none',
    requestSeconds: 240,
    isRequestDoubtful: true,
    silenceSeconds: 240,
    killSeconds: 600,
    sandboxes: ['e2b'],
    isServerless: true,
    instances: 100,
    proxies: 1,
  },
  setSecret: (name) => {
    const set = `az containerapp secret set --name ${IMAGE} --resource-group "$GROUP" --secrets`
    return withSecret(name, (value) => `${set} "${dashed(name)}=${value}"`)
  },
  render(plan) {
    const { host } = plan
    const app = `--name ${IMAGE} --resource-group "$GROUP"`
    const deploy = `${buildAndPush(plan, '"$IMAGE"')}\naz containerapp update ${app} --yaml <(sed "s|image: .*|image: $IMAGE|" ${plan.folder}/containerapp.yaml)`
    return {
      files: {
        'containerapp.yaml': fill(plan, 'azure', {
          ENVIRONMENT: entriesOf<object>(
            plan,
            (name, value) => ({ name, value }),
            (name) => ({ name, secretRef: dashed(name) }),
          ),
        }),
      },
      prepare: [
        {
          title: 'Choose the resource group, registry and region',
          run: `export GROUP=agent-server REGISTRY=NAME LOCATION=westeurope\nexport IMAGE=${TAG}`,
        },
        {
          title:
            'Create the registry, the environment and the app, which starts with a placeholder image',
          run: `az group create --name "$GROUP" --location "$LOCATION"
az acr create --name "$REGISTRY" --resource-group "$GROUP" --sku Basic && az acr login --name "$REGISTRY"
az containerapp env create --name ${IMAGE} --resource-group "$GROUP"
az containerapp create ${app} --environment ${IMAGE} --image mcr.microsoft.com/k8se/quickstart --ingress external --target-port 3000 --registry-server "$REGISTRY.azurecr.io" --registry-identity system`,
        },
      ],
      deploy: [{ title: 'Build, push and start the server', run: deploy }],
      domain: [
        {
          title: `Create a CNAME record of ${host} with the first value shown, and a TXT record of asuid.${host} with the second`,
          run: `az containerapp show ${app} --query "[properties.configuration.ingress.fqdn, properties.customDomainVerificationId]"`,
        },
        {
          title: 'Add the domain with a certificate that Azure manages',
          run: `az containerapp hostname add ${app} --hostname ${host}\naz containerapp hostname bind ${app} --hostname ${host} --environment ${IMAGE} --validation-method CNAME`,
        },
      ],
      update: `export IMAGE=${TAG}\n${deploy}`,
      rollback: `az containerapp revision list ${app} --output table\naz containerapp revision copy ${app} --from-revision REVISION`,
      costs: `processor and memory of every replica around the clock, since replicas must not be scaled to zero; ${plan.sharedEngines}`,
    }
  },
}

const TAG = '$REGISTRY.azurecr.io/agent-server:$(git rev-parse --short HEAD)'
