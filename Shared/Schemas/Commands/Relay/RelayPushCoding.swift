package import FoundationEssentials
import Base

/// Fast path for the reply to a push, which has an outcome for each of up to 1,000 phones. ``JSONCoder`` reads other forms.
extension RelayPush {
    package static func reply(payload: Data) throws -> Reply {
        try payload.withUnsafeBytes { Reply(common: $0) } ?? JSONCoder.decode(from: payload)
    }

    package static func payload(of reply: Reply) throws -> Data {
        var json = JSONBytes(capacity: 32 + 100 * reply.results.count)
        json.append(#"{"results":["#)
        for (position, result) in reply.results.enumerated() {
            if position > 0 { json.append(",") }
            switch result.result {
            case .success(let name):
                json.append(#"{"name":"#)
                json.append(text: name)
            case .failure(let error):
                json.append(#"{"error":"#)
                json.append(error)
            }
            json.append("}")
        }
        json.append("]}")
        return json.data()
    }
}

extension RelayPush.Reply {
    fileprivate init?(common json: UnsafeRawBufferPointer) {
        var results: [SendResult]?
        var reader = FastReader(json)
        let isRead = reader.object { reader in
            reader.name("results") && results.takeOnce(reader.results())
        }
        guard isRead, reader.isAtEnd(), let results else { return nil }
        self.init(results: results)
    }
}

extension JSONBytes {
    fileprivate mutating func append(_ error: DeliveryError) {
        append(#"{"class":"#)
        append(text: error.class.rawValue)
        append(#","code":"#)
        append(text: error.code)
        append(#","message":"#)
        append(text: error.message)
        if let retryAfter = error.retryAfter {
            append(#","retry_after":"#)
            append(retryAfter)
        }
        append("}")
    }
}

extension FastReader {
    fileprivate mutating func results() -> [SendResult]? {
        var results: [SendResult] = []
        let isRead = array { reader in
            var name: String?
            var error: DeliveryError?
            let isRead = reader.object { reader in
                if reader.name("name") { return name.takeOnce(reader.text()) }
                return reader.name("error") && error.takeOnce(reader.deliveryError())
            }
            guard isRead, let result = error.map(Result.failure) ?? name.map(Result.success) else { return false }
            results.append(SendResult(result))
            return true
        }
        return isRead ? results : nil
    }

    private mutating func deliveryError() -> DeliveryError? {
        var (code, message): (String?, String?)
        var errorClass: ErrorClass?
        var retryAfter: Milliseconds?
        let isRead = object { reader in
            if reader.name("class") { return errorClass.takeOnce(reader.choice()) }
            if reader.name("code") { return code.takeOnce(reader.text()) }
            if reader.name("message") { return message.takeOnce(reader.text()) }
            return reader.name("retry_after") && retryAfter.takeOnce(reader.milliseconds())
        }
        guard isRead, let errorClass, let code, let message else { return nil }
        return DeliveryError(class: errorClass, code: code, message: message, retryAfter: retryAfter)
    }
}
