import * as http from 'node:http'

let isSet = false

/** The fetch of Node by HTTPS_PROXY and NO_PROXY, which it heeds only when told to, where this Node can be told. */
export const proxiedFetch: typeof fetch = async (...request) => {
  if (!isSet && 'setGlobalProxyFromEnv' in http) http.setGlobalProxyFromEnv()
  isSet = true
  return fetch(...request)
}
