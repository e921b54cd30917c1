import CommandBus
import Hummingbird
import ServiceContextModule

/// What travels with a request through the gateway.
struct GatewayContext: Hummingbird.RequestContext {
    var coreContext: CoreRequestContextStorage

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
    }

    /// The request's id, for its answer: the trace id that stands in every service's log lines about it.
    var requestID: String {
        ServiceContext.current?.traceparent?.traceID ?? ""
    }
}
