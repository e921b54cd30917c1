import HTTPTypes
import JSON

/// An error in the form of Google's JSON APIs: `{"error":{"code":…,"message":…,"status":…,"details":[…]}}`.
struct GoogleError: Error, Hashable {
    let httpStatus: HTTPResponse.Status
    /// The name of the `google.rpc.Code`, such as `INVALID_ARGUMENT`.
    let status: String
    let message: String
    var details: [JSONValue] = []
    var headers: HTTPFields = [:]

    var document: JSONValue {
        var members: [JSONValue.Member] = [
            .init("code", .integer(httpStatus.code)),
            .init("message", .string(message)),
            .init("status", .string(status)),
        ]
        if !details.isEmpty { members.append(.init("details", .array(details))) }
        return ["error": .object(members)]
    }
}

extension GoogleError {
    /// A request with invalid fields.
    static func badRequest(_ violations: [FieldViolation]) -> GoogleError {
        GoogleError(
            httpStatus: .badRequest, status: "INVALID_ARGUMENT",
            message: violations.map(\.description).joined(separator: "\n"), details: [Self.badRequestDetail(violations)])
    }

    /// An error of FCM itself, with FCM's own code in the details.
    ///
    /// - Parameters:
    ///   - first: A detail before FCM's own.
    ///   - last: A detail after FCM's own.
    static func fcm(
        _ code: FCMErrorCode, _ message: String, before first: JSONValue? = nil, after last: JSONValue? = nil
    ) -> GoogleError {
        let own: JSONValue = [
            "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code.rawValue),
        ]
        return GoogleError(
            httpStatus: code.httpStatus, status: code.status, message: message,
            details: [first, own, last].compactMap(\.self))
    }

    /// Invalid JSON: the problem, the text around it, and a mark below the position.
    static func syntax(_ failure: JSONSyntaxError, in body: some Collection<UInt8>) -> GoogleError {
        let around = 20
        let start = max(0, failure.position - around)
        let excerpt = String(decoding: body.dropFirst(start).prefix(2 * around), as: UTF8.self)
            .map { $0.isNewline ? " " : String($0) }.joined()
        let mark = String(repeating: " ", count: failure.position - start) + "^"
        return GoogleError(
            httpStatus: .badRequest, status: "INVALID_ARGUMENT",
            message: "Invalid JSON payload received. \(failure.googleDescription(ofBytes: body.count))\n\(excerpt)\n\(mark)")
    }

    static func notFound(_ message: String) -> GoogleError {
        GoogleError(httpStatus: .notFound, status: "NOT_FOUND", message: message)
    }

    static func invalidArgument(_ message: String) -> GoogleError {
        GoogleError(httpStatus: .badRequest, status: "INVALID_ARGUMENT", message: message)
    }

    static func tooLarge(_ max: Int) -> GoogleError {
        GoogleError(
            httpStatus: .contentTooLarge, status: "INVALID_ARGUMENT",
            message: "Request payload size exceeds the limit: \(max) bytes.")
    }

    static let badRequestType = "type.googleapis.com/google.rpc.BadRequest"

    static func badRequestDetail(_ violations: [FieldViolation]) -> JSONValue {
        [
            "@type": .string(badRequestType),
            "fieldViolations": .array(
                violations.map { violation in
                    violation.field.isEmpty
                        ? ["description": .string(violation.description)]
                        : ["field": .string(violation.field), "description": .string(violation.description)]
                }),
        ]
    }
}

/// The problem of one field of a request.
struct FieldViolation: Hashable {
    /// The field's path, such as `message.android`; empty for the request itself.
    let field: String
    let description: String
}

extension JSONValue {
    /// Reads a request's body.
    ///
    /// - Throws: ``GoogleError`` that shows the position of the syntax error.
    init(requestBody body: some Collection<UInt8>) throws(GoogleError) {
        do {
            try self.init(parsing: body, rules: .google)
        } catch {
            throw GoogleError.syntax(error, in: body)
        }
    }
}
