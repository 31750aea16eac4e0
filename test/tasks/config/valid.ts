/** Configurations that the agent's own documentation shows, one for each way to authenticate. */
export const cluster =
  '/subscriptions/44654aed-2753-4b88-9142-af7132933b6b/resourceGroups/edge/providers/Microsoft.ContainerService/managedClusters/prod'

const targetCluster = { resourceId: cluster, location: 'canadacentral' }
const kubelet = { clusterFQDN: 'prod.hcp.canadacentral.azmk8s.io', caCertData: 'LS0tLS1CRUdJTg==' }

export const withToken = {
  azure: { targetCluster, bootstrapToken: { token: 'abcdef.0123456789abcdef' }, arc: { enabled: false } },
  node: { kubelet },
}

export const valid: Readonly<Record<string, object>> = {
  token: withToken,
  'managed identity': { azure: { targetCluster, managedIdentity: {}, arc: { enabled: false } } },
  'arc and token': {
    azure: {
      targetCluster,
      arc: { enabled: true, machineName: 'old', tags: {} },
      bootstrapToken: { token: 'abcdef.0123456789abcdef' },
    },
    node: { kubelet },
  },
  'service principal': {
    azure: {
      targetCluster,
      servicePrincipal: {
        tenantId: 't',
        clientId: 'c',
        clientSecretFile: '/etc/aks-flex-node/credentials/sp-client-secret',
      },
    },
  },
  kubeconfigs: {
    azure: { targetCluster },
    agent: { kubeconfigData: 'apiVersion: v1' },
    node: { kubelet: { kubeconfigData: 'apiVersion: v1' } },
  },
  everything: {
    azure: {
      subscriptionId: '44654aed-2753-4b88-9142-af7132933b6b',
      tenantId: 't',
      cloud: 'AzurePublicCloud',
      resourceManagerEndpoint: 'https://management.azure.com',
      targetCluster,
      targetAgentPoolName: 'edge',
      managedIdentity: { clientId: 'c' },
    },
    agent: {
      logLevel: 'info',
      logDir: '/var/log/aks-flex-node',
      nodeName: 'edge-node-01.site-2',
      machineClient: {
        mode: 'in-cluster',
        endpointUrl: '/api/v1/namespaces/kube-system/services/http:aks-flex-controller:80/proxy',
      },
      machineReconcileInterval: '1h30m',
      requireMachineRegistration: true,
      machineOperationMode: 'auto',
    },
    components: {
      kubernetes: '1.34.3',
      containerd: '2.0.4',
      runc: '1.1.12',
      sandboxImage: 'x',
      gantry: { disabled: true },
    },
    bootstrap: {
      ociImage: 'ghcr.io/example/rootfs:1',
      offlineArtifacts: { source: '/opt/artifacts/{{ .KubernetesVersion }}' },
      additionalHostDevices: ['/dev/uinput'],
      additionalHostMounts: [{ source: '/opt/config', target: '/etc/config', readOnly: true }, { source: '/srv/data' }],
      additionalRequiredServices: ['ib_rdma_configure.service'],
    },
    hostRouting: {
      staticRoutes: {
        enabled: true,
        routes: [{ destination: '10.93.0.0/16', gateway: '10.0.0.1', dev: 'eth1', metric: 50 }],
      },
      routeOverlap: { expectedCidrs: ['10.93.0.0/16'], mode: 'strict' },
    },
    networking: {
      dnsServiceIP: '10.0.0.10',
      cniVersion: 'v1.6.2',
      localDNS: { mode: 'Required', kubeDNSOverrides: { '.': {} } },
    },
    node: {
      maxPods: 110,
      labels: { workload: 'edge', empty: '' },
      taints: ['dedicated=edge:NoSchedule'],
      kubelet: {
        verbosity: 2,
        imageGCHighThreshold: 85,
        imageGCLowThreshold: 80,
        nodeIP: '10.0.0.4',
        systemReserved: { cpu: '50m' },
        imageCredentialProvider: { configPath: '/etc/provider.yaml', binDir: '/usr/local/lib/providers' },
      },
    },
    npd: { version: 'v1.35.1' },
  },
  'what earlier releases took': {
    azure: { targetCluster, bootstrapToken: { token: 'abcdef.0123456789abcdef' } },
    kubernetes: { version: '1.33.1' },
    containerd: { version: '2.0.4' },
    runc: { version: '1.1.12' },
    cni: { version: 'v1.6.2' },
    node: { kubelet: { serverURL: 'https://prod.example', caCertData: 'LS0t', dnsServiceIP: '10.0.0.10' } },
  },
  'nothing said in many ways': { ...withToken, agent: { nodeName: null, logLevel: '' }, bootstrap: null },
}
