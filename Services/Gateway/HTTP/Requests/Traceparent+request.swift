import CommandBus
import Hummingbird

extension Traceparent {
    /// The trace of a request. Its id is the request's, returned as `X-Request-Id`.
    ///
    /// A caller may send its own: in a W3C `traceparent`, or as an `X-Request-Id` of 32 hexadecimal digits or a UUID. Anything
    /// else is replaced, so that ids in the log are short and harmless.
    init(of request: Request) {
        let given = request.headers[.traceparent].flatMap { Traceparent($0) }
        let requestID = request.headers[.requestID].map { $0.lowercased().filter { $0 != "-" } }
        self.init(continuing: given?.traceID ?? requestID)
    }
}
