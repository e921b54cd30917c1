import HTTPTypes
import Hummingbird
import Schemas

extension Request {
    /// The caller's key for a request and its repetitions: the header `Idempotency-Key`; `nil` without it.
    ///
    /// - Throws: ``Problem``.
    var idempotencyKey: String? {
        get throws(Problem) {
            let keys = headers[values: .idempotencyKey]
            guard let key = keys.first else { return nil }
            let problem = keys.count > 1 ? "expected one, found \(keys.count)" : TextLimits.idempotencyKey.problem(with: key)
            if let problem {
                throw Problem(.invalidField, "Idempotency-Key: \(problem)", field: "Idempotency-Key")
            }
            return key
        }
    }
}
