import Hummingbird
import Schemas

/// The parameters of a request's query. An error names the parameter. An unexpected parameter is an error as well: a mistyped
/// filter must not show everything.
struct QueryParameters {
    private let values: [String: String]

    /// - Parameter known: The names that may occur.
    init(of request: Request, known: [String]) throws {
        var values: [String: String] = [:]
        for (name, value) in request.uri.queryParameters {
            let name = String(name)
            guard known.contains(name) else {
                throw Problem(
                    .invalidField, "\(name.prefix(60)): not a parameter here; there are \(known.joined(separator: ", "))",
                    field: String(name.prefix(60)))
            }
            guard values.updateValue(String(value), forKey: name) == nil else {
                throw Problem(.invalidField, "\(name): given more than once", field: name)
            }
        }
        self.values = values
    }

    /// - Returns: `nil` if the parameter is missing.
    func value<Value>(_ name: String, expected: String, parse: (String) -> Value?) throws -> Value? {
        guard let text = values[name] else { return nil }
        guard let value = parse(text) else {
            throw Problem(.invalidField, "\(name): expected \(expected)", field: name)
        }
        return value
    }

    func identifier(_ name: String) throws -> ObjectID? {
        try value(name, expected: "24 hexadecimal digits (an ObjectId)") { ObjectID($0) }
    }

    func moment(_ name: String) throws -> UnixMilliseconds? {
        try value(name, expected: "Unix milliseconds") { text in
            UnixMilliseconds(text).flatMap { (0...maximumUnixMilliseconds).contains($0) ? $0 : nil }
        }
    }
}
