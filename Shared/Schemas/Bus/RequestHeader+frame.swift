package import JSON
package import Time

/// A request's header as a frame: headers are read and written twice a round trip.
extension RequestHeader {
    /// Appends the header as a frame: the bytes that ``JSONCoder`` would write, without its cost.
    ///
    /// - Parameter timeout: The remaining time, which replaces the header's.
    package func append(to json: inout JSONBytes, timeout: Milliseconds? = nil) {
        json.append("{")
        if let actor {
            json.append("\"actor\":")
            json.append(text: actor)
            json.append(",")
        }
        if let address {
            json.append("\"address\":")
            json.append(text: address)
            json.append(",")
        }
        json.append("\"command\":")
        json.append(text: command)
        if let credential {
            json.append(",\"credential\":")
            json.append(text: credential.description)
        }
        if let deadline {
            json.append(",\"deadline\":")
            json.append(deadline)
        }
        json.append(",\"id\":")
        json.append(text: id)
        if let timeout = timeout ?? self.timeout {
            json.append(",\"timeout\":")
            json.append(timeout)
        }
        if let traceparent {
            json.append(",\"traceparent\":")
            json.append(text: traceparent)
        }
        json.append("}")
    }

    /// Fast path: reads the common form; `nil` for every other form, which the general decoder reads.
    package init?(plain bytes: UnsafeRawBufferPointer) {
        var (id, command, traceparent, actor, address): (String?, String?, String?, String?, String?)
        var credential: CredentialHash?
        var (timeout, deadline): (Milliseconds?, UnixMilliseconds?)
        var reader = FastReader(bytes)
        let isRead = reader.object { reader in
            if reader.name("id") { return id.takeOnce(reader.headerName()) }
            if reader.name("command") { return command.takeOnce(reader.headerName()) }
            if reader.name("timeout") { return timeout.takeOnce(reader.milliseconds()) }
            if reader.name("deadline") { return deadline.takeOnce(reader.moment()) }
            if reader.name("traceparent") { return traceparent.takeOnce(reader.text()) }
            if reader.name("actor") { return actor.takeOnce(reader.text(within: .sender)) }
            if reader.name("address") { return address.takeOnce(reader.text(within: .address)) }
            return reader.name("credential") && credential.takeOnce(reader.text().flatMap { CredentialHash($0) })
        }
        guard isRead, reader.isAtEnd(), let id, let command else { return nil }
        self.init(
            id: id, command: command, timeout: timeout, deadline: deadline, traceparent: traceparent, actor: actor,
            address: address, credential: credential)
    }

    /// The id of an invalid header, so that the sender can assign the error to its request; empty if it cannot be read.
    package static func readableID(in frame: [UInt8]) -> String {
        let id = frame.withUnsafeBytes { JSONCoder.text(of: "id", inDamaged: $0) }
        guard let id, id.unicodeScalars.count <= 100 else { return "" }
        return id
    }
}

extension FastReader {
    /// An id or a command that is certainly within the schema's limits.
    fileprivate mutating func headerName() -> String? {
        guard let text = text(), text.utf8.count <= 100, !text.isBlank else { return nil }
        return text
    }

    /// A text that is within the schema's limits.
    fileprivate mutating func text(within limits: TextLimits) -> String? {
        guard let text = text(), limits.problem(with: text) == nil else { return nil }
        return text
    }
}
