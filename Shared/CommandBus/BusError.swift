/// Why a bus, or one of its sockets, cannot be opened.
package struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A short fixed word, fit for a metric label.
    package enum Code: String, Sendable {
        /// An endpoint that is not `ipc://<path>` or `tcp://<host>:<port>`.
        case invalidEndpoint = "invalid_endpoint"
        /// Another process serves that endpoint.
        case addressInUse = "address_in_use"
        /// The bus is closed.
        case closed
        /// The operating system refused; the message has the details.
        case system
    }

    package let code: Code
    /// One sentence for the operator, with the endpoint.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
