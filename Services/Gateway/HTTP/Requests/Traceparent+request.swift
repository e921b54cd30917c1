import CommandBus
import Hummingbird

extension Traceparent {
    /// The trace of a request. Its id is the request's, returned as `X-Request-Id`.
    ///
    /// A caller may send its own: in a W3C `traceparent`, or as an `X-Request-Id` of 32 hexadecimal digits or a UUID. Anything
    /// else is replaced, so that ids in the log are short and harmless. A `tracestate` is for other systems that record the trace,
    /// and the request does not leave the hub with its trace, so it is not read.
    init(of request: Request) {
        if let given = request.headers[.traceparent].flatMap({ Traceparent($0) }) {
            self.init(following: given)
        } else if let requestID = request.headers[.requestID].map({ $0.lowercased().filter { $0 != "-" } }),
            let named = Traceparent(traceID: requestID)
        {
            self = named
        } else {
            self.init()
        }
    }
}
