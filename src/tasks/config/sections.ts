import { z } from 'zod'
import {
  absolutePath,
  anyText,
  base64,
  bootstrapToken,
  boundPath,
  clusterId,
  device,
  duration,
  flag,
  hostUnit,
  ipv4,
  ipv4Network,
  managementEndpoint,
  must,
  nodeName,
  oneOf,
  text,
  whole,
} from './forms.ts'

type Shape = Readonly<Record<string, z.ZodType>>
/** How a mapping takes keys that it does not list. */
type MakeObject = (shape: Shape, params: { readonly error: () => string }) => z.ZodType

/** The sections of config.json as domain.md 9.6 has them. */
export const configSections = (make: MakeObject): z.ZodType => {
  const object = (shape: Shape): z.ZodType =>
    make(Object.fromEntries(Object.entries(shape).map(([key, inner]) => [key, inner.optional()])), must('a mapping'))
  const list = (inner: z.ZodType): z.ZodType => z.array(inner, must('a list'))
  const texts = z.record(z.string(), anyText, must('a mapping'))
  const anything = z.record(z.string(), z.unknown(), must('a mapping'))

  return object({
    azure: object({
      subscriptionId: text,
      tenantId: text,
      cloud: text,
      resourceManagerEndpoint: managementEndpoint,
      targetCluster: object({ resourceId: clusterId, location: text }),
      targetAgentPoolName: text,
      bootstrapToken: object({ token: bootstrapToken }),
      managedIdentity: object({ clientId: text }),
      arc: object({ enabled: flag, machineName: anyText, resourceGroup: anyText, location: anyText, tags: anything }),
      servicePrincipal: object({ tenantId: text, clientId: text, clientSecret: text, clientSecretFile: absolutePath }),
    }),
    agent: object({
      logLevel: text,
      logDir: absolutePath,
      nodeName,
      kubeconfigData: text,
      machineClient: object({ mode: oneOf('arm', 'in-cluster'), endpointUrl: text }),
      machineReconcileInterval: duration,
      requireMachineRegistration: flag,
      machineOperationMode: oneOf('auto', 'disable'),
    }),
    components: object({
      kubernetes: text,
      containerd: text,
      runc: text,
      sandboxImage: text,
      gantry: object({ disabled: flag }),
    }),
    bootstrap: object({
      ociImage: text,
      offlineArtifacts: object({ source: text }),
      additionalHostDevices: list(device),
      additionalHostMounts: list(object({ source: boundPath, target: boundPath, readOnly: flag })),
      additionalRequiredServices: list(hostUnit),
    }),
    hostRouting: object({
      staticRoutes: object({
        enabled: flag,
        routes: list(object({ destination: ipv4Network, gateway: ipv4, dev: text, metric: whole(0, 4_294_967_295) })),
      }),
      routeOverlap: object({ expectedCidrs: list(ipv4Network), mode: text }),
    }),
    networking: object({
      dnsServiceIP: text,
      cniVersion: text,
      localDNS: object({
        mode: oneOf('Required', 'Preferred', 'Disabled'),
        vnetDNSOverrides: anything,
        kubeDNSOverrides: anything,
      }),
    }),
    node: object({
      maxPods: whole(1, 100_000),
      labels: texts,
      taints: list(text),
      kubelet: object({
        verbosity: whole(0, 100),
        imageGCHighThreshold: whole(0, 100),
        imageGCLowThreshold: whole(0, 100),
        kubeconfigData: text,
        clusterFQDN: text,
        caCertData: base64,
        nodeIP: text,
        systemReserved: texts,
        kubeReserved: texts,
        imageCredentialProvider: object({ configPath: boundPath, binDir: boundPath }),
        // Of earlier releases, here and below: the agent still takes them.
        dnsServiceIP: text,
        serverURL: text,
      }),
    }),
    npd: object({ version: text }),
    kubernetes: object({ version: text }),
    containerd: object({ version: text }),
    runc: object({ version: text }),
    cni: object({ version: text }),
  })
}
