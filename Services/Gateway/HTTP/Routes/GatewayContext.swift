import CommandBus
import Hummingbird
import NIOCore
import ServiceContextModule

/// What travels with a request through the gateway.
struct GatewayContext: Hummingbird.RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection on which the request came.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// The request's id, for its answer: the trace id that stands in every service's log lines about it.
    var requestID: String {
        ServiceContext.current?.traceparent?.traceID ?? ""
    }

    /// The caller, for the commands that a request leads to. Until there are accounts, every caller is the seed's
    /// "Communicator" (seed, "Data Dictionary", `sender`).
    var caller: CommandBus.RequestContext { .init(actor: "Communicator") }

    /// The id for the answer to a request that never came to be one.
    static func newRequestID() -> String {
        Traceparent().traceID
    }
}
