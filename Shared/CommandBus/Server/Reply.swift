import FoundationEssentials
import JSON
import Schemas
import Time

/// The content of a reply's two frames.
struct Reply: Sendable {
    let header: ReplyHeader
    let payload: Data

    /// The maximum length of a failure's message, in characters.
    private static let maxMessageBytes = 1_000

    init(id: String, result: Data) {
        header = ReplyHeader(id: id, status: .ok)
        payload = result
    }

    init(id: String, failure: CommandFailure) {
        // The client would mistake a failure with the status `ok` for the command's result.
        let status = failure.status == .ok ? .internal : failure.status
        header = ReplyHeader(id: id, status: status)
        var json = JSONBytes(capacity: 256)
        json.append("{")
        if let field = failure.field {
            json.append("\"field\":")
            json.append(text: String(field.unicodeScalars.prefix(Self.maxMessageBytes)))
            json.append(",")
        }
        json.append("\"message\":")
        json.append(text: String(failure.message.unicodeScalars.prefix(Self.maxMessageBytes)))
        if let retryAfter = failure.retryAfter {
            json.append(",\"retry_after\":")
            json.append(retryAfter.rawValue)
        }
        json.append("}")
        payload = json.data()
    }
}
