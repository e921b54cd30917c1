import CommandBus
import Hummingbird
import NIOCore
import ServiceContextModule

/// The context of a request in the gateway.
struct GatewayContext: Hummingbird.RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The request's connection.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// The request's id for the answer: the trace id in every service's log lines about the request.
    var requestID: String {
        ServiceContext.current?.traceparent?.traceID ?? ""
    }

    /// The actor of the request's commands. Until there are accounts, every caller is the seed's "Communicator" (seed, "Data
    /// Dictionary", `sender`).
    var caller: CommandBus.RequestContext { .init(actor: "Communicator") }

    /// An id for the answer to a request that could not be parsed.
    static func newRequestID() -> String {
        Traceparent().traceID
    }
}
