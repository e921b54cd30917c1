import HTTPTypes
import Hummingbird
import Schemas

extension Request {
    /// The caller's key for a request and its repetitions: the header `Idempotency-Key`; `nil` without it.
    ///
    /// - Throws: ``Problem``.
    var idempotencyKey: String? {
        get throws(Problem) {
            guard let key = headers[.idempotencyKey] else { return nil }
            if let problem = TextLimits.idempotencyKey.problem(with: key) {
                throw Problem(.invalidField, "Idempotency-Key: \(problem)", field: "Idempotency-Key")
            }
            return key
        }
    }
}
