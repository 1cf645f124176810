module meshdoctor/tests/cluster/gateway-api

go 1.24.0

// Only the custom resource definitions inside this module are used, never its code.
require sigs.k8s.io/gateway-api v1.2.1
