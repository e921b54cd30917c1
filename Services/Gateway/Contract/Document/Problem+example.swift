import HTTPTypes
import JSON

extension Problem {
    /// A problem document for the API's document.
    static func example(_ kind: ProblemKind) -> JSONValue {
        [
            "type": .string(kind.type), "title": .string(kind.title), "status": .integer(kind.status.code),
            "detail": .string(kind.title), "request_id": "0aa793834948af74b5ad4da61c7ec718",
        ]
    }
}
