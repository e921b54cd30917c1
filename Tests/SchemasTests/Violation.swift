import FoundationEssentials
import Base

/// The violation with which a body ends; `nil` if it ends with a value or with another error.
func violation<Value>(_ body: () throws -> Value) -> SchemaViolation? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? SchemaViolation
    }
}

/// The violation of a document of a type; `nil` if it has none, or if the error is another one.
func violation<Value: Decodable>(of type: Value.Type, in json: Data) -> SchemaViolation? {
    violation { try JSONCoder.decodeStrictly(type, from: json) }
}

func violation<Value: Decodable>(of type: Value.Type, in json: String) -> SchemaViolation? {
    violation(of: type, in: Data(json.utf8))
}
