{{- define "meshdoctor.labels" -}}
app.kubernetes.io/name: meshdoctor
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "meshdoctor.name" -}}
{{- if contains "meshdoctor" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-meshdoctor" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "meshdoctor.account" -}}
{{- .Values.serviceAccount.name | default (include "meshdoctor.name" .) }}
{{- end }}

{{- define "meshdoctor.image" -}}
{{- $repository := required "image.repository: name the image that was built from this repository's Dockerfile" .Values.image.repository -}}
{{- if .Values.image.digest }}{{ $repository }}@{{ .Values.image.digest }}{{ else }}{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}
