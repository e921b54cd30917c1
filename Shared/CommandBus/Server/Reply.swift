import FoundationEssentials
import JSON
import Schemas

/// What the two frames of a reply are made of.
struct Reply: Sendable {
    let header: ReplyHeader
    let payload: Data

    /// The longest message of a failure, in characters.
    private static let maxMessageBytes = 1_000

    init(id: String, result: Data) {
        header = ReplyHeader(id: id, status: .ok)
        payload = result
    }

    init(id: String, failure: CommandFailure) {
        // A failure that says it is none would be taken for the command's result.
        let status = failure.status == .ok ? .internal : failure.status
        header = ReplyHeader(id: id, status: status)
        var json: [UInt8] = []
        json.appendLiteral("{")
        if let field = failure.field {
            json.appendLiteral("\"field\":")
            json.appendJSON(String(field.unicodeScalars.prefix(Self.maxMessageBytes)))
            json.appendLiteral(",")
        }
        json.appendLiteral("\"message\":")
        json.appendJSON(String(failure.message.unicodeScalars.prefix(Self.maxMessageBytes)))
        if let retryAfter = failure.retryAfter { json += Array(",\"retry_after\":\(retryAfter)".utf8) }
        json.appendLiteral("}")
        payload = Data(json)
    }
}
