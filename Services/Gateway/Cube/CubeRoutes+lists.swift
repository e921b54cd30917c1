import HTTPTypes
import Schemas

/// Where a subject is, who may send, the order, and which messages a second person must approve.
extension CubeRoutes {
    var place: [Route] {
        [
            Route(
                .put, "/place/:channelID/:areaID/:subjectID", right: .administer, confirmed: true, body: SubjectPlace.self,
                answer: .ok(Subject.self)
            ) { call in
                try await update(
                    MoveSubject(
                        channelID: call.identifier("channelID"), areaID: call.identifier("areaID"),
                        subjectID: call.identifier("subjectID"), to: call.body(), unchangedSince: call.unchangedSince),
                    for: call)
            }.documented(
                "Move a subject to the end of another area",
                "Its `topic_key` and its `id` stay, so phones stay subscribed and its messages stay together. From then on the access "
                    + "lists of its new place apply. The topic key still names the place where it was added.",
                headers: [.ifMatchCube], answerHeaders: [.eTag], problems: [.conflict])
        ]
    }

    var access: [Route] {
        let channel = "/access/:channelID"
        return [
            ("channel", channel), ("area", channel + "/:areaID"), ("subject", channel + "/:areaID/:subjectID"),
        ].map { object, path in
            Route(
                .put, path, right: .administer, confirmed: true, body: AccessList.self, answer: .ok(AccessList.self)
            ) { call in
                try await update(
                    SetAccess(
                        channelID: call.identifier("channelID"), areaID: call.optionalIdentifier("areaID"),
                        subjectID: call.optionalIdentifier("subjectID"), access: call.body().access,
                        unchangedSince: call.unchangedSince),
                    for: call)
            }.documented(
                "Set who may send to \(object == "subject" ? "a subject" : "the subjects of \(object == "area" ? "an" : "a") \(object)")",
                "A communicator may send to a subject if no list on its path names anyone, or if one of them names the account. An "
                    + "empty list names no account. The lists do not say who may read: phones read without a sign-in.",
                headers: [.ifMatchCube], answerHeaders: [.eTag], problems: [.conflict])
        }
    }

    var order: [Route] {
        [
            ("the channels", "/order"), ("the areas of a channel", "/order/:channelID"),
            ("the subjects of an area", "/order/:channelID/:areaID"),
        ].map { objects, path in
            Route(.put, path, right: .administer, body: CubeOrder.self, answer: .ok(CubeOrder.self)) { call in
                try await update(
                    SetOrder(
                        channelID: call.optionalIdentifier("channelID"), areaID: call.optionalIdentifier("areaID"),
                        ids: call.body().ids, unchangedSince: call.unchangedSince),
                    for: call)
            }.documented(
                "Sort \(objects)", "The list has exactly the ids that are there, each once.", headers: [.ifMatchCube],
                answerHeaders: [.eTag], problems: [.conflict])
        }
    }

    var approval: [Route] {
        [
            Route(
                .put, "/approval/:channelID/:areaID/:subjectID", right: .administer, confirmed: true, body: Approval.self,
                answer: .ok(Approval.self)
            ) { call in
                try await update(
                    SetApproval(
                        channelID: call.identifier("channelID"), areaID: call.identifier("areaID"),
                        subjectID: call.identifier("subjectID"), approval: call.body().approval,
                        unchangedSince: call.unchangedSince),
                    for: call)
            }.documented(
                "Set whether a second person must approve each message to a subject", headers: [.ifMatchCube],
                answerHeaders: [.eTag], problems: [.conflict])
        ]
    }
}
