import TestSupport

extension HTTPAnswer {
    /// The members of Google's `error` object.
    var error: [String: Any] { object["error"] as? [String: Any] ?? [:] }
    var errorMessage: String? { error["message"] as? String }
    var errorStatus: String? { error["status"] as? String }
    var details: [[String: Any]] { error["details"] as? [[String: Any]] ?? [] }
    var fcmErrorCode: String? { details.compactMap { $0["errorCode"] as? String }.first }
    var violatedFields: [String] {
        details.flatMap { $0["fieldViolations"] as? [[String: Any]] ?? [] }.compactMap { $0["field"] as? String }
    }
}
