import { buildAndPush, type Command, fill, IMAGE, type Target, withSecret } from '../target.ts'

export const aws: Target = {
  name: 'aws',
  title: 'AWS ECS Express Mode',
  facts: {
    storage: 'none',
    // The load balancer's default, which can be raised there.
    silenceSeconds: 60,
    killSeconds: 30,
    sandboxes: ['embedded', 'e2b'],
    instances: 100,
    proxies: 1,
  },
  setSecret: (name) => {
    const put = `aws ssm put-parameter --overwrite --type SecureString --name /${IMAGE}/${name} --value`
    return withSecret(name, (value) => `${put} "${value}"`)
  },
  render(plan) {
    const tag = `export IMAGE=${REGISTRY}/${IMAGE}:$(git rev-parse --short HEAD)`
    const deploy = `${buildAndPush(plan, '"$IMAGE"')}\naws cloudformation deploy --stack-name ${IMAGE} --template-file ${plan.folder}/template.yaml --capabilities CAPABILITY_IAM --parameter-overrides Image="$IMAGE"`
    return {
      files: {
        'template.yaml': fill(plan, 'aws', {
          SETTINGS: Object.entries(plan.plain).map(([Name, Value]) => ({ Name, Value })),
          SECRETS: plan.secrets.map((Name) => ({ Name, ValueFrom: parameter(Name) })),
        }),
      },
      prepare: [
        {
          title: 'Choose the account and region, and create the image repository',
          run: `export ACCOUNT=$(aws sts get-caller-identity --query Account --output text) REGION=$(aws configure get region)
${tag}
aws ecr create-repository --repository-name ${IMAGE}
aws ecr get-login-password | docker login --username AWS --password-stdin "${REGISTRY}"`,
        },
      ],
      deploy: [
        { title: 'Build, push and start the server', run: deploy },
        {
          title: 'Show the URL',
          run: `aws cloudformation describe-stacks --stack-name ${IMAGE} --query "Stacks[0].Outputs"`,
        },
      ],
      domain: domainSteps(plan.host),
      update: `${tag}\n${deploy}`,
      rollback: `export IMAGE=${REGISTRY}/${IMAGE}:PREVIOUS_COMMIT\n${deploy.split('\n')[1]}`,
      costs: `the tasks per second, the load balancer per hour, outgoing traffic, ${plan.sharedEngines}`,
    }
  },
}

const REGISTRY = '$ACCOUNT.dkr.ecr.$REGION.amazonaws.com'

function domainSteps(host = ''): Command[] {
  return [
    {
      title: 'Request the certificate, and create the DNS record that is shown',
      run: `export CERTIFICATE=$(aws acm request-certificate --domain-name ${host} --validation-method DNS --query CertificateArn --output text)
aws acm describe-certificate --certificate-arn "$CERTIFICATE" --query "Certificate.DomainValidationOptions[0].ResourceRecord"
aws acm wait certificate-validated --certificate-arn "$CERTIFICATE"`,
    },
    {
      title: `Add certificate and name to the load balancer of the service, with the ARNs that the commands show, and create a CNAME record of ${host} with its DNSName`,
      run: `aws elbv2 describe-load-balancers --query "LoadBalancers[].[DNSName,LoadBalancerArn]"
aws elbv2 describe-listeners --load-balancer-arn LOAD_BALANCER
aws elbv2 add-listener-certificates --listener-arn LISTENER --certificates CertificateArn="$CERTIFICATE"
aws elbv2 describe-rules --listener-arn LISTENER   # the rule whose host-header is the URL above
aws elbv2 modify-rule --rule-arn RULE --conditions Field=host-header,Values=URL,${host}`,
    },
  ]
}

function parameter(name: string) {
  const ofAccount = `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter`
  return { 'Fn::Sub': `${ofAccount}/${IMAGE}/${name}` }
}
