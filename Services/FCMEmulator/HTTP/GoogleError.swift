import HTTPTypes
import Base

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

/// FCM's own error codes (FCM's reference, "ErrorCode").
enum FCMErrorCode: String, Sendable {
    case invalidArgument = "INVALID_ARGUMENT"
    case unregistered = "UNREGISTERED"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case unavailable = "UNAVAILABLE"
    case `internal` = "INTERNAL"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"

    var httpStatus: HTTPResponse.Status {
        switch self {
        case .invalidArgument: .badRequest
        case .unregistered: .notFound
        case .senderIDMismatch: .forbidden
        case .quotaExceeded: .tooManyRequests
        case .unavailable: .serviceUnavailable
        case .internal: .internalServerError
        case .thirdPartyAuthError: .unauthorized
        }
    }

    /// The name of the `google.rpc.Code`.
    var status: String {
        switch self {
        case .invalidArgument: "INVALID_ARGUMENT"
        case .unregistered: "NOT_FOUND"
        case .senderIDMismatch: "PERMISSION_DENIED"
        case .quotaExceeded: "RESOURCE_EXHAUSTED"
        case .unavailable: "UNAVAILABLE"
        case .internal: "INTERNAL"
        case .thirdPartyAuthError: "UNAUTHENTICATED"
        }
    }
}

extension JSONRules {
    /// The rules of Google's APIs: of repeated fields the last one counts, and the depth limit is that of protobuf's JSON.
    static let google = JSONRules(maxDepth: 100, allowsRepeatedNames: true, allowsNumbersOfAnySize: true)
}

extension JSONSyntaxError {
    /// The error message as Google's parser writes it.
    ///
    /// - Parameter count: The document's length in bytes.
    func googleDescription(ofBytes count: Int) -> String {
        switch problem {
        case .expectedValue where position >= count: "Unexpected end of string. Expected a value."
        case .expectedValue, .byteOrderMark, .otherEncoding: "Expected a value."
        case .expectedEnd: "Expected end of string."
        case .expectedName, .repeatedName: "Expected an object key or }."
        case .expectedColon: "Expected : between key:value pair."
        case .expectedCommaOrBrace: "Expected , or } after key:value pair."
        case .expectedCommaOrBracket: "Expected , or ] after array value."
        case .unclosedText: "Closing quote expected in string."
        case .controlCharacter: "Invalid control character in string."
        case .unknownEscape: "Invalid escape sequence."
        case .expectedHexadecimalDigits: "Illegal hex string."
        case .halfOfSurrogatePair: "Invalid unicode code point."
        case .leadingZero: "Octal/hex numbers are not valid JSON values."
        case .expectedDigit, .numberDoesNotFit: "Unable to parse number."
        case .tooDeep: "Message too deep. Max recursion depth reached."
        case .notUTF8: "Encountered non UTF-8 code points."
        }
    }
}
