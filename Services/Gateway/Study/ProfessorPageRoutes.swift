import HTTPTypes
import Pages

/// The page for professors and teaching assistants: classes, their keys, sessions, and what was studied.
///
/// It is made of the students' app's modules. A professor signs in there as in the app, by a device, so the page needs no
/// session of the portal and asks the same API. It is the same for everyone, and comes also while the services are away.
struct ProfessorPageRoutes: Feature {
    /// `nil` if they are not installed.
    let files: AppFiles?

    var section: APISection {
        APISection(
            "Professor's page",
            "The page on which professors and teaching assistants look after classes. It asks this API as the students' app "
                + "does, by the token of a device, and loads the app's files.")
    }

    var routes: [Route] {
        [
            Route(.get, "/portal/classes", right: .anonymous, answer: .ok(FileType.html.mediaType), page).documented(
                "Show the professor's page",
                "In the language of `Accept-Language`, English or Arabic. Its path is `\(AppFiles.professorPath)`; without the "
                    + "slash, the answer is a redirection to it.",
                headers: [.ifNoneMatch], answerHeaders: [.eTag],
                also: [AnswerForm(.notModified), AnswerForm(.permanentRedirect)],
                problems: [.notFound], callsServices: false)
        ]
    }

    private func page(_ call: OpenCall<NoBody>) throws -> Answer<NoContent> {
        try AppRoutes.page(call, at: AppFiles.professorPath) { try files.installed.professorPage($0) }
    }
}
