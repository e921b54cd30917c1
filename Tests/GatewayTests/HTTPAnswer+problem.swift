import TestSupport

extension HTTPAnswer {
    /// The last part of a problem's `type`; `nil` if the answer is not a complete problem document.
    var problem: String? {
        let document = object
        guard self["content-type"] == "application/problem+json", document["status"] as? Int == status,
            document["title"] is String, document["detail"] is String,
            document["request_id"] as? String == self["x-request-id"], let type = document["type"] as? String,
            type.hasPrefix("/problems/")
        else { return nil }
        return String(type.dropFirst("/problems/".count))
    }
}
